/** How a provider issues OAuth 2 tokens, and where requests carry secrets. */

/** Where a request carries a secret: a header, with an optional prefix, or a query parameter. */
export type Attachment =
  | { in: 'header'; name: string; valuePrefix?: string }
  | { in: 'query'; name: string };

/** POST sends the token and the client as a form (RFC 7009). DELETE appends the token to the URL. */
export interface Revocation {
  method: 'POST' | 'DELETE';
  url: string;
}

/**
 * The meaning of an error that is the provider's own and not OAuth's. AUTH_INVALIDATED is final only if the error repeats,
 * because providers also respond with such codes during outages.
 */
export interface TokenErrorRule {
  /** The `error` of the response in lower case, or its `status` if the provider has its own format. */
  code: string;
  /** The HTTP status. Default: any. */
  status?: number;
  /** The `error_description` in lower case. Default: any. */
  description?: string;
  kind: 'AUTH_INVALIDATED' | 'RATE_LIMITED';
}

interface AdminConsent {
  url: string;
  /** Issues tokens of the organization (`{{workspace}}`) to the client of the provider app. */
  tokenUrl: string;
  scope: string;
  /** The claim of the id token that names the organization. */
  workspaceClaim: string;
}

/** OAuth 2 settings of a provider. URLs may contain `{{variable}}`, replaced by the connection's workspace or metadata. */
export interface OAuth2Settings {
  authorizeUrl?: string;
  tokenUrl: string;
  /** The endpoint for refresh tokens. Default: `tokenUrl`. */
  refreshUrl?: string;
  /** The endpoints of a consent without a workspace, which the token response then names. Absent if there are none. */
  sharedLogin?: { authorizeUrl: string; tokenUrl: string };
  /**
   * An administrator consents for a whole organization first, and then signs in at `authorizeUrl`. The sign-in decides which
   * organization is connected, because anyone can change the parameters of a redirect.
   */
  adminConsent?: AdminConsent;
  /** Query parameters of every authorization request. */
  authorizeParams?: Record<string, string>;
  /** Further query parameters if the connection exists, for providers that issue a refresh token only once by default. */
  reauthorizeParams?: Record<string, string>;
  /** The provider issues a refresh token only with one of these scopes. Absent if scopes do not decide. */
  refreshTokenScopes?: readonly string[];
  /** True if the provider refuses an authorization request without scopes. */
  explicitScopesRequired?: boolean;
  /** The revocation endpoint. Absent if the provider has none, or it is unknown. */
  revocation?: Revocation;
  /** True if the token endpoint accepts only JSON. Default: a form. */
  usesJson?: true;
  /** How the client authenticates at the token URL. Default: in the body. */
  clientAuthentication?: 'body' | 'basic';
  /** Dotted paths of values in the token response that the connection stores. */
  tokenFields?: {
    workspaceRef?: string;
    /** The vendor's own address with `{{workspace}}`, if the response names the workspace by it. Default: `baseUrl`. */
    workspaceAddress?: string;
    consumerRef?: string;
    scopes?: string;
  };
  /** The lifetime of access tokens if the token response contains none. */
  defaultLifetimeSeconds?: number;
  /** Separates the scopes of an authorization or token request. Default: a space. */
  scopeSeparator?: string;
  /** Where requests carry the access token. Default: `Authorization: Bearer`. */
  tokenAttachment?: Attachment;
  /** The provider's own errors of the token endpoint. The first matching rule applies. */
  tokenErrors?: readonly TokenErrorRule[];
}
