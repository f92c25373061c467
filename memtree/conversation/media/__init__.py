"""Images, audio and files in messages: found, named by a digest, and priced in tokens."""
