/** Why the server closes a WebSocket: RFC 6455's codes, and those of graphql-transport-ws. */
export const CLOSE = {
  /** The server stops: a client that connects again reaches another process. */
  goingAway: 1001,
  tryAgainLater: 1013,
  badRequest: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  internalError: 4500,
} as const;
