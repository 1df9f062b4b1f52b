/**
 * Named grants, by which custom inputs become the token that requests carry. `{{name}}` in their values stands for a custom
 * input or a member of the connection's metadata.
 */
import type { Attachment, OAuth2Settings } from './oauth2-settings.ts';

export type AssertionAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'ES512';

/** A JSON web token that the customer's private key signs (RFC 7523). */
export interface AssertionSettings {
  /** The name of the input with the private key. */
  key: string;
  /** `keyFile` is the JSON key file of a Google service account, which also names the issuer and the key. */
  keyFormat: 'pem' | 'keyFile';
  /** The algorithm is the first one that fits the key. Default: `RS256`. */
  algorithms?: readonly AssertionAlgorithm[];
  /** Absent if the key file names it. */
  issuer?: string;
  /** Omitted from the assertion if a variable has no value. */
  subject?: string;
  /** The id of the key in the header. */
  keyId?: string;
  /** Default: the token URL. */
  audience?: string;
  /** The audience of workspaces that contain a text. */
  otherAudience?: { workspacePart: string; audience: string };
  /** The name of the input with the scopes. */
  scopes?: string;
  /** The scopes if the customer does not enter them. */
  fixedScopes?: readonly string[];
  /** Default: 3,600. */
  lifetimeSeconds?: number;
  /**
   * True if issuer and subject name a Snowflake user: `{{account}}` is the account in the workspace, both claims are in
   * upper case, and the issuer ends with the fingerprint of the public key.
   */
  namesSnowflakeUser?: true;
}

/** The settings of the endpoint that returns tokens. */
type TokenEndpoint = Pick<OAuth2Settings, 'tokenUrl' | 'defaultLifetimeSeconds' | 'tokenErrors'>;

export type InputGrant =
  /** The token endpoint exchanges the assertion (RFC 7523, section 2.1). */
  | ({ type: 'JWT_BEARER'; assertion: AssertionSettings } & TokenEndpoint)
  /** The assertion authenticates the client of a client credentials grant (RFC 7523, section 2.2). */
  | ({ type: 'CLIENT_ASSERTION'; assertion: AssertionSettings } & TokenEndpoint)
  /** The assertion itself is the token. */
  | { type: 'SIGNED_TOKEN'; assertion: AssertionSettings }
  /** A GET with the login returns a key of the user. */
  | ({ type: 'LOGIN'; login: LoginSettings } & TokenEndpoint);

interface LoginSettings {
  /** The credentials of HTTP Basic, before they are encoded as base64. */
  basic: string;
  /** The dotted path of the key in the response. */
  keyField: string;
  /** The credentials of requests, before they are encoded as base64. `{{key}}` is the key. */
  credentials: string;
  attachment: Attachment;
}
