/** A status as a word with a color, never as a color alone. */
const TONES: Record<string, 'good' | 'bad' | 'busy' | 'idle'> = {
  WORKING: 'good',
  HEALTHY: 'good',
  SUCCEEDED: 'good',
  ENABLED: 'good',
  ACTIVE: 'good',
  ACCEPTED: 'good',
  APPROVED: 'good',
  COMMITTED: 'good',
  BAD_CREDENTIALS: 'bad',
  UNHEALTHY: 'bad',
  FAILING: 'bad',
  FAILED: 'bad',
  DISABLED: 'bad',
  ERROR: 'bad',
  REJECTED: 'bad',
  STALE: 'bad',
  IN_PROGRESS: 'busy',
  PENDING: 'busy',
  COMMITTING: 'busy',
  RETRYING: 'bad',
  WARNING: 'busy',
};

interface StatusProps {
  value: string;
  /** Default: the value as an English word. */
  label?: string;
}

export function Status({ value: status, label = formatWords(status) }: StatusProps) {
  return <span className={`status ${TONES[status] ?? 'idle'}`}>{label}</span>;
}

/** `IN_PROGRESS` as `In progress` */
export function formatWords(value: string): string {
  const label = value.toLowerCase().replaceAll('_', ' ');
  return label.charAt(0).toUpperCase() + label.slice(1);
}

const ACRONYMS: Record<string, string> = {
  API_KEY: 'API key',
  BASIC: 'User name and password',
  NONE: 'No standard scheme',
  OAUTH2_AUTHORIZATION_CODE: 'OAuth 2',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'OAuth 2 with PKCE',
  OAUTH2_CLIENT_CREDENTIALS: 'OAuth 2 client credentials',
  OAUTH2_PASSWORD: 'OAuth 2 password',
};

export function getSchemeName(scheme: string): string {
  return ACRONYMS[scheme] ?? formatWords(scheme);
}
