/** Findings of plans: what prevents a plan from being applied, or needs attention. */
import { z } from 'zod';
import type { Text } from '../../kernel/text.ts';
import { enumeration, resource } from '../base/resource.ts';
import { printedParts, printedText } from '../base/stored-text.ts';

const findingSeverity = enumeration('FindingSeverity', 'How serious a finding is.', {
  ERROR: 'The plan is not applied.',
  WARNING: 'The plan is applied, and something needs attention.',
});

export const findingResource = resource(
  'PlanFinding',
  'Something that prevents a plan from being applied, or that needs attention.',
  {
    severity: findingSeverity.describe('Whether the finding prevents the plan from being applied.'),
    path: z.string().describe('The item that the finding concerns. Empty for the whole plan.'),
    message: printedText('message', z.string().describe('The human-readable finding.')),
    messageParts: printedParts(
      'message',
      'The message in parts: strings, and objects with the name of a `member`.',
    ),
  },
);

/** A finding as plans store it. The message names members of the input of `planProject`. */
export interface Finding
  extends Omit<z.output<typeof findingResource>, 'message' | 'messageParts'> {
  message: Text;
}
