/** Signs requests with AWS Signature Version 4. The rules are those of "Create a signed AWS API request" of AWS. */
import { createHmac, hash } from 'node:crypto';

export interface SignableRequest {
  method: string;
  url: URL;
  /** Values by lower-case names. */
  headers: Record<string, string | string[]>;
  body: string | Buffer;
}

interface AwsKey {
  id: string;
  secret: string;
}

interface SigningScope {
  service: string;
  region: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Returns the headers that authenticate a request to `<service>.<region>.amazonaws.com`. */
export function signForHost(
  key: AwsKey,
  request: SignableRequest,
  now: Date,
): Record<string, string> {
  const [service = '', region = ''] = request.url.hostname.split('.');
  return signAwsRequest(key, { ...request, service, region }, now);
}

export function signAwsRequest(
  { id, secret }: AwsKey,
  request: SignableRequest & SigningScope,
  now: Date,
): Record<string, string> {
  const { service, region } = request;
  const time = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const { canonicalRequest, signedNames } = createCanonicalRequest(request, time);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, hash('sha256', canonicalRequest, 'hex')].join('\n');
  const signingKey = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${secret}`,
  );
  const signature = createHmac('sha256', signingKey).update(text).digest('hex');
  return {
    'x-amz-date': time,
    authorization: `${ALGORITHM} Credential=${id}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`,
  };
}

function createCanonicalRequest({ method, url, headers, body }: SignableRequest, time: string) {
  const signed = Object.entries({ ...headers, host: url.host, 'x-amz-date': time })
    .filter(([name]) => /^(host|content-type|x-amz-.*)$/.test(name))
    .map(([name, value]) => [name, [value].flat().map(trimSpaces).join(',')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const signedNames = signed.map(([name]) => name).join(';');
  const canonicalRequest = [
    method,
    // The path of the URL is encoded already. AWS encodes it once more, except for S3.
    url.pathname.split('/').map(encode).join('/'),
    createCanonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    signedNames,
    hash('sha256', body, 'hex'),
  ].join('\n');
  return { canonicalRequest, signedNames };
}

function createCanonicalQuery({ searchParams }: URL): string {
  return [...searchParams]
    .map((pair) => pair.map(encode).join('='))
    .sort()
    .join('&');
}

function trimSpaces(value: string): string {
  return value.trim().replaceAll(/ +/g, ' ');
}

/** Encodes all characters except the unreserved ones of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
