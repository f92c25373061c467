"""Define posted and answered fields once each: for decoding, for answering and for the OpenAPI
document."""
