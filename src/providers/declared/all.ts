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
import { freshdesk } from './support/freshdesk.ts';
import { front } from './support/frontapp.ts';
import { intercom } from './support/intercom.ts';
import { serviceNow } from './support/service-now.ts';
import { zendeskSupport } from './support/zendesk-support.ts';
import { asana } from './work/asana.ts';
import { github } from './work/github.ts';
import { gitlab } from './work/gitlab.ts';
import { linear } from './work/linear.ts';

export const DECLARATIONS: readonly DeclaredProvider[] = [
  asana,
  attio,
  close,
  dynamicsCrm,
  freshdesk,
  front,
  github,
  gitlab,
  intercom,
  linear,
  outreach,
  pipedrive,
  salesloft,
  serviceNow,
  stripe,
  zendeskSupport,
  zoho,
];

export const DECLARED = DECLARATIONS.map(declarativeProvider);
