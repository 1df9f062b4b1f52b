/** Refuses bytes that are not UTF-8, which decoders silently replace by U+FFFD. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { onRequestHookHandler } from 'fastify';
import { DomainError, type Issue, invalidInput } from '../../kernel/errors.ts';

/** The parameter `charset` of a media type. Its value may be quoted. */
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
const UTF8_NAMES = ['utf-8', 'utf8'];

/** Returns the reason to refuse a body. Null for UTF-8. */
export function findBodyRefusal(
  { 'content-type': type = '' }: IncomingHttpHeaders,
  body: Buffer,
): DomainError | null {
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!UTF8_NAMES.includes(charset)) {
    return new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with the charset utf-8.');
  }
  return isUtf8(body) ? null : new DomainError('BAD_USER_INPUT', 'The body is not UTF-8.');
}

/** Decodes a body. Throws UNSUPPORTED_MEDIA_TYPE for another charset, and BAD_USER_INPUT for bytes that are not UTF-8. */
export function decodeBody(headers: IncomingHttpHeaders, body: Buffer): string {
  const refusal = findBodyRefusal(headers, body);
  if (refusal) throw refusal;
  return body.toString('utf8');
}

/** Returns the reason to refuse the query string of a URL. Null if it is percent-encoded UTF-8. */
export function findQueryRefusal(url: string): DomainError | null {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return null;
  const issues = url
    .slice(start + 1)
    .split('&')
    .flatMap((parameter): Issue[] => {
      if (isDecodable(parameter)) return [];
      const [name = ''] = parameter.split('=');
      const detail = 'must be percent-encoded UTF-8.';
      return [{ in: 'query', path: [isDecodable(name) ? decodeURIComponent(name) : name], detail }];
    });
  return issues.length > 0 ? invalidInput(issues) : null;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Refuses a query string that is not percent-encoded UTF-8. */
export const requireDecodableQuery: onRequestHookHandler = ({ url }, _reply, done) => {
  done(findQueryRefusal(url) ?? undefined);
};
