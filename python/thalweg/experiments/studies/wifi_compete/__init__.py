"""The study `wifi-compete`: early versions of C4 against others on bad Wi-Fi."""
