/* The identity of the server: public, and the same in every run, so that the handshake has one length. */
static const char KEY[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAH6ZbH5GQZL2W0f1tcX+wmUNJtKN7KZpwLlnFU8qafK\n"
    "-----END PRIVATE KEY-----\n";
static const char CERTIFICATE[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBJzCB2qADAgECAgEBMAUGAytlcDASMRAwDgYDVQQDDAd0aGFsd2VnMCAXDTI2\n"
    "MTEyNjAyMzIwM1oYDzIxMjYxMTAyMDIzMjAzWjASMRAwDgYDVQQDDAd0aGFsd2Vn\n"
    "MCowBQYDK2VwAyEACHZIC/L0j7WK+cEMPKdi1o//zuK9wz7Qg2ErKXiVcJqjUzBR\n"
    "MB0GA1UdDgQWBBSNVFSargu8JIxqLm3JlMqlTla8GjAfBgNVHSMEGDAWgBSNVFSa\n"
    "rgu8JIxqLm3JlMqlTla8GjAPBgNVHRMBAf8EBTADAQH/MAUGAytlcANBAOpgOTDb\n"
    "Zhc4V7TP+hPN5X9rcG1TTCfBd+5VM4OSUIfPg33rRA+K9Jf9QejSE/J2YEZcYO+Z\n"
    "RWN9dr9FW8qXDw8=\n"
    "-----END CERTIFICATE-----\n";
