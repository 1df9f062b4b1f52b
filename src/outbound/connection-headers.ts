/** RFC 9110, 7.6.1: headers that speak of one connection, and not of what is sent over it. */
export const CONNECTION_HEADERS = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;
