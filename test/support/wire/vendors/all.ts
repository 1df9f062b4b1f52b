/** The wire formats of the vendors, each written from the vendor's own description, by the provider's name. */
import type { WireVendor } from '../terms.ts';
import { stripe } from './commerce/stripe-wire.ts';
import { attio } from './crm/attio-wire.ts';
import { close } from './crm/close-wire.ts';
import { dynamicsCrm } from './crm/dynamics-crm-wire.ts';
import { outreach } from './crm/outreach-wire.ts';
import { pipedrive } from './crm/pipedrive-wire.ts';
import { salesloft } from './crm/salesloft-wire.ts';
import { zoho } from './crm/zoho-wire.ts';
import { front } from './support/front-wire.ts';
import { zendesk } from './support/zendesk-support-wire.ts';
import { gitlab } from './work/gitlab-wire.ts';

export const WIRES: Record<string, WireVendor> = {
  attio,
  close,
  dynamicsCRM: dynamicsCrm,
  outreach,
  zoho,
  front,
  gitlab,
  pipedrive,
  salesloft,
  stripe,
  zendeskSupport: zendesk,
};
