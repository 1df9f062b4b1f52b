/** Sends this window to the provider's consent page, and restores the connect page when the provider redirects back. */

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
    isSetupProblem: boolean;
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
          isSetupProblem: fault === 'setup',
        },
    packageUrl,
  };
}
