"""List conversations, their trees and plans out of the store alone; no text."""
