/** Approval rules: the writes of an agent session that need no approval by a person. */
import { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import { label } from '../base/names.ts';
import { resource } from '../base/resource.ts';
import { castJsonColumn } from '../base/storable-json.ts';
import { writeType } from '../connections/provider/provider.ts';

const FIELDS_MAX = 500;
/** The maximum number of objects in a session and in a rule. */
export const OBJECTS_MAX = 200;

export const objectName = z.string().min(1).max(256);

export const approvalRule = z.object({
  name: label.describe('The name of the rule, which approved proposals show: 1 to 128 characters.'),
  types: z.array(writeType).min(1).max(3).describe('The write types that the rule approves.'),
  objects: z
    .array(objectName)
    .min(1)
    .max(OBJECTS_MAX)
    .nullish()
    .describe("The builder's names of the objects. Default: all objects of the session."),
  fields: z
    .array(z.string().min(1).max(256))
    .min(1)
    .max(FIELDS_MAX)
    .nullish()
    .describe('The only fields that such a write may set. Default: all fields.'),
  maxPerDay: z
    .int()
    .min(1)
    .max(10_000)
    .describe('How many proposals the rule approves in 24 hours, 1 to 10000.'),
});

export const approvalRuleResource = resource(
  'ApprovalRule',
  'Writes that need no approval by a person.',
  {
    ...approvalRule.shape,
    objects: z
      .array(z.string())
      .nullable()
      .describe("The builder's names of the objects. {Null} for all objects of the session."),
    fields: z
      .array(z.string())
      .nullable()
      .describe('The only fields that such a write may set. {Null} for all fields.'),
  },
);

export type ApprovalRule = z.output<typeof approvalRuleResource>;

/** Returns the rules of a session, in order. */
export function readRules({ rules }: Pick<Row<'AgentSession'>, 'rules'>): ApprovalRule[] {
  return castJsonColumn<ApprovalRule[]>(rules).map(
    ({ objects = null, fields = null, ...rule }) => ({
      ...rule,
      objects,
      fields,
    }),
  );
}
