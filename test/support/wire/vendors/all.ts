/** The wire formats of the vendors by the provider's name, each written from the vendor's documentation. */
import type { WireVendor } from '../wire-format.ts';
import { klaviyo } from './commerce/klaviyo-wire.ts';
import { mailchimp } from './commerce/mailchimp-wire.ts';
import { shopify } from './commerce/shopify-wire.ts';
import { square } from './commerce/square-wire.ts';
import { stripe } from './commerce/stripe-wire.ts';
import { xero } from './commerce/xero-wire.ts';
import { attio } from './crm/attio-wire.ts';
import { close } from './crm/close-wire.ts';
import { dynamicsCrm } from './crm/dynamics-crm-wire.ts';
import { outreach } from './crm/outreach-wire.ts';
import { pipedrive } from './crm/pipedrive-wire.ts';
import { salesloft } from './crm/salesloft-wire.ts';
import { zoho } from './crm/zoho-wire.ts';
import { freshdesk } from './support/freshdesk-wire.ts';
import { front } from './support/front-wire.ts';
import { intercom } from './support/intercom-wire.ts';
import { serviceNow } from './support/service-now-wire.ts';
import { zendeskSupport } from './support/zendesk-support-wire.ts';
import { airtable } from './work/airtable-wire.ts';
import { asana } from './work/asana-wire.ts';
import { atlassian } from './work/atlassian-wire.ts';
import { github } from './work/github-wire.ts';
import { gitlab } from './work/gitlab-wire.ts';
import { linear } from './work/linear-wire.ts';
import { monday } from './work/monday-wire.ts';
import { notion } from './work/notion-wire.ts';
import { zoom } from './work/zoom-wire.ts';

/** Returns the wire format of the provider's vendor. Throws if no test server speaks it. */
export function getWire(name: string): WireVendor {
  const wire = WIRES[name];
  if (!wire) throw new Error(`No test server speaks the wire format of ${name}.`);
  return wire;
}

export const WIRES: Record<string, WireVendor> = {
  airtable,
  asana,
  atlassian,
  attio,
  close,
  dynamicsCRM: dynamicsCrm,
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
};
