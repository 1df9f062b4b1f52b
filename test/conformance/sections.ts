/** All rules, in the order of docs/conformance.md. */
import type { Section } from '../support/conformance/rule.ts';
import { accountChoices } from './account-choices.ts';
import { bodies } from './bodies.ts';
import { bodiesOfConnecting } from './bodies-of-connecting.ts';
import { bodiesOfIntegrations } from './bodies-of-integrations.ts';
import { bodiesOfWrites } from './bodies-of-writes.ts';
import { callers } from './callers.ts';
import { choices } from './choices.ts';
import { conventionSections } from './conventions.ts';
import { endpoints } from './endpoints.ts';
import { errors } from './errors.ts';
import { eventChoices } from './event-choices.ts';
import { limits } from './limits.ts';
import { openChoices } from './open-choices.ts';
import { resources } from './resources.ts';
import { resourcesAtProviders } from './resources-at-providers.ts';
import { states } from './states.ts';
import { writes } from './writes.ts';

export const SECTIONS: Section[] = [
  ...conventionSections,
  callers,
  ...resources,
  ...resourcesAtProviders,
  ...endpoints,
  ...bodies,
  ...bodiesOfConnecting,
  ...bodiesOfIntegrations,
  ...bodiesOfWrites,
  writes,
  ...states,
  choices,
  limits,
  errors,
  eventChoices,
  accountChoices,
  openChoices,
];
