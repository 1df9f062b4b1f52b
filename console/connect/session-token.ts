/** The end user's token, which only the fragment of the address has: no log and no other page sees it. */
export interface Session {
  token: string;
  projectId: string;
  returnUrl: string | null;
}

interface Claims {
  project?: unknown;
  returnUrl?: unknown;
}

/** What the token says for this page; the gateway alone checks it. Null if there is no token. */
export function readSession(fragment: string): Session | null {
  const token = new URLSearchParams(fragment.replace(/^#/, '')).get('token');
  if (!token) return null;
  try {
    const { project, returnUrl } = claimsOf(token);
    return {
      token,
      projectId: String(project),
      returnUrl: typeof returnUrl === 'string' ? returnUrl : null,
    };
  } catch {
    return null;
  }
}

function claimsOf(token: string): Claims {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return JSON.parse(
    new TextDecoder().decode(Uint8Array.from(atob(payload), (c) => c.charCodeAt(0))),
  );
}
