/** The providers that are made of a declaration. */
import { type DeclaredProvider, declarativeProvider } from '../declarative/declarative-provider.ts';
import { stripe } from './commerce/stripe.ts';
import { pipedrive } from './crm/pipedrive.ts';
import { salesloft } from './crm/salesloft.ts';
import { front } from './support/frontapp.ts';
import { zendeskSupport } from './support/zendesk-support.ts';
import { gitlab } from './work/gitlab.ts';

export const DECLARATIONS: readonly DeclaredProvider[] = [
  front,
  gitlab,
  pipedrive,
  salesloft,
  stripe,
  zendeskSupport,
];

export const DECLARED = DECLARATIONS.map(declarativeProvider);
