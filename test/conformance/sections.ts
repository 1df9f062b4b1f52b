/** All rules, in the order of the document. */
import type { Section } from '../support/conformance/rule.ts';
import { resources } from './resources.ts';
import { resourcesAtProviders } from './resources-at-providers.ts';

export const SECTIONS: Section[] = [...resources, ...resourcesAtProviders];
