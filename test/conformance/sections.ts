/** All rules, in the order of the document. */
import type { Section } from '../support/conformance/rule.ts';
import { bodies } from './bodies.ts';
import { bodiesOfConnecting } from './bodies-of-connecting.ts';
import { bodiesOfIntegrations } from './bodies-of-integrations.ts';
import { bodiesOfWrites } from './bodies-of-writes.ts';
import { endpoints } from './endpoints.ts';
import { resources } from './resources.ts';
import { resourcesAtProviders } from './resources-at-providers.ts';

export const SECTIONS: Section[] = [
  ...resources,
  ...resourcesAtProviders,
  ...endpoints,
  ...bodies,
  ...bodiesOfConnecting,
  ...bodiesOfIntegrations,
  ...bodiesOfWrites,
];
