"""The page of evidence on the medium of Wi-Fi: docs/evidence/wifi.md."""
