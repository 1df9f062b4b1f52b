/** Settings of single fields in writes: their defaults, and the writes that include them. */
import { z } from 'zod';
import { contentText } from '../../integration/integration-content-input.ts';
import { orDefault, orNull } from '../../optional-value.ts';

const TEXT_MAX = 10_000;

const value = z
  .union(
    [z.string().max(TEXT_MAX), z.number(), z.boolean()],
    'must be a text, a number or a boolean.',
  )
  .meta({ graphql: 'JSON' });

const occasion = z.enum(['ALWAYS', 'NEVER', 'IF_EMPTY']).meta({ id: 'WriteOccasion' });

export const writeFieldSettingInput = z
  .object({
    fieldName: contentText.describe("The name of the field: the mapped one or the provider's."),
    default: orNull(value).describe(
      'Written if a record has no value for the field: a text, a number or a boolean. Default: nothing.',
    ),
    defaultOnUpdate: orDefault(z.boolean(), true).describe(
      'Whether the default is written by updates, too. Default: it is.',
    ),
    writeOnCreate: orDefault(occasion, 'ALWAYS').describe(
      'Whether the field is written when a record is created: `ALWAYS` or `NEVER`. Default: `ALWAYS`.',
    ),
    writeOnUpdate: orDefault(occasion, 'ALWAYS').describe(
      'Whether the field is written when a record is updated. With `IF_EMPTY` the record is read first. Default: `ALWAYS`.',
    ),
  })
  .meta({
    id: 'WriteFieldSettingInput',
    description: 'How a field is written: its default, and the writes that it is left out of.',
  });

type Parsed = z.output<typeof writeFieldSettingInput>;

/** The stored form. Settings from before `defaultOnUpdate` lack it and mean true. */
export type WriteFieldSetting = Omit<Parsed, 'defaultOnUpdate'> &
  Partial<Pick<Parsed, 'defaultOnUpdate'>>;
