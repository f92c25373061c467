# Tells the user, not the model, where a session does not go through MemTree. A plugin can set no
# base URL, so it changes nothing.
case "$ANTHROPIC_BASE_URL" in
  http://127.0.0.1:*|http://localhost:*) exit 0 ;;
esac
printf '%s\n' '{"systemMessage": "This session does not go through MemTree. To start one that does: uvx memtree-proxy wrap claude"}'
