/** The end user's token. It is only in the fragment of the URL, so it does not appear in logs or referrers. */
export interface Session {
  token: string;
  projectId: string;
  returnUrl: string | null;
  /** The proposal that the link asks to approve. Null in other links. */
  proposalId: string | null;
}

interface Claims {
  project?: unknown;
  returnUrl?: unknown;
}

/** Reads the session from the URL's fragment without verifying the token. Null if there is no valid token. */
export function readSession(fragment: string): Session | null {
  const params = new URLSearchParams(fragment.replace(/^#/, ''));
  const token = params.get('token');
  if (!token) return null;
  try {
    const { project, returnUrl } = parseClaims(token);
    return {
      token,
      projectId: String(project),
      returnUrl: typeof returnUrl === 'string' ? returnUrl : null,
      proposalId: params.get('proposal'),
    };
  } catch {
    return null;
  }
}

function parseClaims(token: string): Claims {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return JSON.parse(
    new TextDecoder().decode(Uint8Array.from(atob(payload), (c) => c.charCodeAt(0))),
  );
}

const STORAGE_KEY = 'connect.session';
const PACKAGE_KEY = 'connect.package';
const RESULT_PARAMETERS = ['connectionId', 'error', 'error_description', 'fault'];

/** Opens the provider's page in this window. The token stays in the tab's storage until the provider redirects back. */
export function openConsent(authorizeUrl: string, packageUrl: string | null): void {
  sessionStorage.setItem(STORAGE_KEY, location.hash);
  if (packageUrl) sessionStorage.setItem(PACKAGE_KEY, packageUrl);
  location.assign(authorizeUrl);
}

/** The URL to which a consent in this window returns. */
export const getReturnUrl = () => location.origin + location.pathname + location.search;

/** The outcome of a consent in this window. */
export interface ConsentResult {
  connectionId: string | null;
  /** Why no account was connected; null on success. */
  failure: {
    error: string;
    detail: string;
    /** True if the detail is the provider's own text. */
    isProviderText: boolean;
    /** True if the builder's setup is the reason, which customers don't see. */
    isSetupError: boolean;
  } | null;
  /** Where the customer installs the package of the app. Null if the provider requires none. */
  packageUrl: string | null;
}

/** Restores the token after a consent in this window, so that the page can be reloaded. Null at other times. */
export function takeConsentResult(): ConsentResult | null {
  const url = new URL(location.href);
  const storedToken = sessionStorage.getItem(STORAGE_KEY);
  const [connectionId, error, detail, fault] = RESULT_PARAMETERS.map((name) =>
    url.searchParams.get(name),
  );
  if (storedToken === null || !(connectionId || error)) return null;
  const packageUrl = sessionStorage.getItem(PACKAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  sessionStorage.removeItem(PACKAGE_KEY);
  for (const name of RESULT_PARAMETERS) url.searchParams.delete(name);
  url.hash = storedToken;
  history.replaceState(null, '', url);
  return {
    connectionId: connectionId ?? null,
    failure: connectionId
      ? null
      : {
          error: error ?? '',
          detail: detail ?? error ?? '',
          isProviderText: fault === 'provider',
          isSetupError: fault === 'setup',
        },
    packageUrl,
  };
}
