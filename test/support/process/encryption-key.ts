/** The value of the setting ENCRYPTION_KEY in tests. */
export const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
