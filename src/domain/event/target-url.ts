/**
 * The rules of a URL that messages are posted to, as far as they can be told without resolving its host:
 * what a name resolves to is checked at every attempt.
 */
import { z } from 'zod';
import { isAllowed, isRefused } from '../../outbound/address-guard.ts';
import type { Services } from '../call.ts';

const CHARACTERS_MAX = 2048;

/** Names that never leave the machine (RFC 6761), and what they stand for. */
const LOCAL_NAME = /^(.+\.)?localhost\.?$/;
const LOOPBACK = ['127.0.0.1', '::1'];

type Policy = Pick<Services, 'config' | 'sandboxUrl'>;

/** https, or http to an allowed address; no user info, no fragment; the sandbox is always allowed. */
export function targetUrl(policy: Policy) {
  return z.string().superRefine((text, context) => {
    const message = problemWith(text, policy);
    if (message === null) return;
    // A password in a URL is not repeated.
    context.addIssue({ code: 'custom', message, params: { isSecret: text.includes('@') } });
  });
}

function problemWith(text: string, { config, sandboxUrl }: Policy): string | null {
  if (text.length > CHARACTERS_MAX) return `must be at most ${CHARACTERS_MAX} characters.`;
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) {
    return 'must be an absolute https URL.';
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password.';
  if (text.includes('#')) return 'must not have a fragment.';
  if (url.origin === new URL(sandboxUrl()).origin) return null;
  return problemWithHost(url, config.ALLOWED_PRIVATE_TARGETS);
}

function problemWithHost({ protocol, hostname }: URL, allowed: readonly string[]): string | null {
  const addresses = addressesOf(hostname);
  if (addresses.length > 0 && addresses.every((address) => isRefused(address, allowed))) {
    return 'must not be a private, loopback, link-local or reserved address, unless ALLOWED_PRIVATE_TARGETS holds it.';
  }
  if (protocol === 'https:') return null;
  const mayBeAllowed =
    addresses.length > 0
      ? addresses.some((address) => isAllowed(address, allowed))
      : allowed.length > 0;
  return mayBeAllowed ? null : 'must be https.';
}

/** The address that the host is written as; URL has brought every notation of IPv4 to one. */
function addressesOf(hostname: string): string[] {
  if (LOCAL_NAME.test(hostname)) return LOOPBACK;
  if (hostname.startsWith('[')) return [hostname.slice(1, -1)];
  return /^\d+(\.\d+){3}$/.test(hostname) ? [hostname] : [];
}
