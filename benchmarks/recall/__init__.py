"""Recall: is what answers a question among what the model sees?"""
