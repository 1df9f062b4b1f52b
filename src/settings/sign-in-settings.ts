/** Settings for the sign-in to the console, its sessions, and the creation of orgs. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { Secret } from '../kernel/secrets.ts';
import { wholeNumber } from './setting-kinds.ts';

/** The path at which the gateway receives the browser after a sign-in at an issuer. */
export const SIGN_IN_CALLBACK_PATH = '/sign-in/callback';

const ISSUERS_MAX = 10;
const TEXT_MAX = 256;
const PASSWORD_MIN = 12;

const text = z.string().trim().min(1).max(TEXT_MAX);

/** Returns whether traffic to the URL is safe from other machines: it uses https, or a loopback address. */
function isProtected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return true;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return (
    host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
  );
}

const issuerUrl = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !URL.canParse(url) || isProtected(url), 'must be an https URL')
  .refine((url) => /^[^?#@]*$/.test(url), 'must have no user info, query or fragment');

const redirectUrl = z
  .url({ protocol: /^https?$/ })
  .refine(
    (url) => /^[^?#@]*$/.test(url) && url.endsWith(SIGN_IN_CALLBACK_PATH),
    `must be the URL of the gateway with the path ${SIGN_IN_CALLBACK_PATH}`,
  );

const signInIssuer = z
  .strictObject({
    issuer: issuerUrl,
    clientId: text,
    clientSecret: z
      .string()
      .min(1)
      .max(4096)
      .transform((value) => new Secret(value))
      .optional(),
    redirectUrl: redirectUrl.optional(),
    name: text.optional(),
    emailsVerified: z.boolean().default(false),
    signOutAtProvider: z.boolean().default(false),
  })
  .transform(({ name, ...settings }) => ({
    ...settings,
    /** The name that the console shows. */
    name: name ?? new URL(settings.issuer).host,
  }));

/** An OpenID provider at which builders sign in to the console. */
export type SignInIssuer = z.output<typeof signInIssuer>;

const issuersJson = z.string().transform((value, context): unknown => {
  try {
    return JSON.parse(value);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a JSON array' });
    return z.NEVER;
  }
});

export const signInSettings = {
  SIGN_IN_ISSUERS: issuersJson
    .pipe(
      z
        .array(signInIssuer)
        .max(ISSUERS_MAX)
        .refine(
          (issuers) => new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length,
          'must name each issuer once',
        ),
    )
    .prefault('[]')
    .describe(
      `OpenID providers at which builders sign in to the console, as a JSON array. Each has issuer, clientId, and optionally clientSecret, redirectUrl, name, emailsVerified and signOutAtProvider`,
    ),
  LOCAL_ISSUER_PASSWORD: z
    .string()
    .min(PASSWORD_MIN)
    .max(TEXT_MAX)
    .transform((value) => new Secret(value))
    .optional()
    .describe(
      'Password with which anyone signs in to the console as any builder of the local issuer, for development; default: no such sign-in',
    ),
  CONSOLE_SESSION_IDLE_MINUTES: wholeNumber(60, 5, 1440).describe(
    'Minutes without activity after which a session of the console ends',
  ),
  CONSOLE_SESSION_HOURS: wholeNumber(12, 1, 720).describe(
    'Hours after its sign-in at which a session of the console ends, even with activity',
  ),
  ORG_CREATION: z
    .enum(['everyone', 'invited'])
    .default('everyone')
    .describe(
      'Builders who may create orgs: everyone, or only members of an org, who have accepted an invite',
    ),
};
