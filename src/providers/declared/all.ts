/** All providers with a declaration. */
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../declarative/declarative-provider.ts';
import { klaviyo } from './commerce/klaviyo.ts';
import { mailchimp } from './commerce/mailchimp.ts';
import { shopify } from './commerce/shopify.ts';
import { square } from './commerce/square.ts';
import { stripe } from './commerce/stripe.ts';
import { xero } from './commerce/xero.ts';
import { attio } from './crm/attio.ts';
import { close } from './crm/close.ts';
import { dynamicsCrm } from './crm/dynamics-crm.ts';
import { outreach } from './crm/outreach.ts';
import { pipedrive } from './crm/pipedrive.ts';
import { salesloft } from './crm/salesloft.ts';
import { zoho } from './crm/zoho.ts';
import { freshdesk } from './support/freshdesk.ts';
import { front } from './support/front.ts';
import { intercom } from './support/intercom.ts';
import { serviceNow } from './support/service-now.ts';
import { zendeskSupport } from './support/zendesk-support.ts';
import { airtable } from './work/airtable.ts';
import { asana } from './work/asana.ts';
import { atlassian } from './work/atlassian.ts';
import { github } from './work/github.ts';
import { gitlab } from './work/gitlab.ts';
import { linear } from './work/linear.ts';
import { monday } from './work/monday.ts';
import { notion } from './work/notion.ts';
import { zoom } from './work/zoom.ts';

export const DECLARATIONS: readonly DeclaredProvider[] = [
  airtable,
  asana,
  atlassian,
  attio,
  close,
  dynamicsCrm,
  freshdesk,
  front,
  github,
  gitlab,
  intercom,
  klaviyo,
  linear,
  mailchimp,
  monday,
  notion,
  outreach,
  pipedrive,
  salesloft,
  serviceNow,
  shopify,
  square,
  stripe,
  xero,
  zendeskSupport,
  zoho,
  zoom,
];

export const DECLARED = DECLARATIONS.map(createDeclarativeProvider);
