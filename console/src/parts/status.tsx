/** Shows a status as a colored word, because a color alone is not accessible. */
type Tone = 'good' | 'bad' | 'busy' | 'idle';

const TONES: Record<string, Tone> = {
  WORKING: 'good',
  HEALTHY: 'good',
  SUCCEEDED: 'good',
  ENABLED: 'good',
  LIVE: 'good',
  ACTIVE: 'good',
  ACCEPTED: 'good',
  APPROVED: 'good',
  COMMITTED: 'good',
  BAD_CREDENTIALS: 'bad',
  UNHEALTHY: 'bad',
  FAILING: 'bad',
  FAILED: 'bad',
  ERROR: 'bad',
  REJECTED: 'bad',
  RETRYING: 'bad',
  STALE: 'bad',
  IN_PROGRESS: 'busy',
  PAUSED: 'busy',
  PENDING: 'busy',
  COMMITTING: 'busy',
  WARNING: 'busy',
};

interface StatusProps {
  value: string;
  /** Default: the status in English. */
  label?: string;
  /** Default: the tone of the status. */
  tone?: Tone;
}

export function Status({ value, label, tone }: StatusProps) {
  return (
    <span className={`status ${tone ?? TONES[value] ?? 'idle'}`}>
      {label ?? formatStatus(value)}
    </span>
  );
}

/** Statuses of connections whose API names are not clear to people. */
const STATUS_LABELS: Record<string, string> = {
  CREATED: 'Not used yet',
  BAD_CREDENTIALS: 'Needs reconnecting',
};

export function formatStatus(status: string): string {
  return STATUS_LABELS[status] ?? formatWords(status);
}

/** Converts `IN_PROGRESS` to `In progress`, and `READ_BY_ID` to `Read by ID`. */
export function formatWords(value: string): string {
  const label = value
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\bid\b/, 'ID');
  return label.charAt(0).toUpperCase() + label.slice(1);
}

const SCHEME_NAMES: Record<string, string> = {
  API_KEY: 'API key',
  BASIC: 'User name and password',
  NONE: 'Other credentials',
  OAUTH2_AUTHORIZATION_CODE: 'OAuth 2',
  OAUTH2_AUTHORIZATION_CODE_PKCE: 'OAuth 2 with PKCE',
  OAUTH2_CLIENT_CREDENTIALS: 'OAuth 2 client credentials',
  OAUTH2_PASSWORD: 'OAuth 2 password',
};

export function getSchemeName(scheme: string): string {
  return SCHEME_NAMES[scheme] ?? formatWords(scheme);
}
