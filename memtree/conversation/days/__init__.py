"""Dates of messages: recognise lines and time stamps that name a day."""
