/** The providers that are made of a declaration. */
import { type DeclaredProvider, declarativeProvider } from '../declarative/declarative-provider.ts';
import { stripe } from './commerce/stripe.ts';
import { attio } from './crm/attio.ts';
import { close } from './crm/close.ts';
import { dynamicsCrm } from './crm/dynamics-crm.ts';
import { outreach } from './crm/outreach.ts';
import { pipedrive } from './crm/pipedrive.ts';
import { salesloft } from './crm/salesloft.ts';
import { zoho } from './crm/zoho.ts';
import { front } from './support/frontapp.ts';
import { zendeskSupport } from './support/zendesk-support.ts';
import { gitlab } from './work/gitlab.ts';

export const DECLARATIONS: readonly DeclaredProvider[] = [
  attio,
  close,
  dynamicsCrm,
  front,
  gitlab,
  outreach,
  pipedrive,
  salesloft,
  stripe,
  zendeskSupport,
  zoho,
];

export const DECLARED = DECLARATIONS.map(declarativeProvider);
