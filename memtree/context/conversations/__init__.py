"""What the store knows of conversations: the list of them, their trees and plans; no text."""
