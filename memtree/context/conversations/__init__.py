"""List conversations, their trees and plans from the store alone; no message text."""
