/** Reads the end user's token. It is only in the fragment of the URL, so it does not appear in logs or referrers. */

/** The session of the link that opened the page. */
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
