/** Settings of single fields in writes: their defaults, and the writes that include them. */
import { z } from 'zod';
import { orDefault, orNull } from '../../../base/input-schemas.ts';
import { computed, enumeration, resource } from '../../../base/resource.ts';
import { contentText } from '../../integration/integration-content-input.ts';
import { createScalarInput } from './field-filter.ts';

const value = createScalarInput({ lengthMax: 10_000 });

const occasion = enumeration('WriteOccasion', 'Whether a field is written.', {
  ALWAYS: 'It is written.',
  NEVER: 'It is omitted from the write; the log of the operation names it.',
  IF_EMPTY: "It is written if the provider's record has no value for it.",
});
const fieldName = contentText.describe("The field's mapped name, or its name at the provider.");

export const writeFieldSettingInput = z
  .object({
    fieldName,
    default: orNull(value).describe(
      'Written if a record has no value for the field: a text, a number or a boolean. Default: nothing.',
    ),
    defaultOnUpdate: orDefault(z.boolean(), true).describe(
      'Whether updates write the default, too. Default: true.',
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
    description: 'How a field is written: its default, and the writes that omit it.',
  });

type ParsedSetting = z.output<typeof writeFieldSettingInput>;

/** A stored setting. Settings that are older than `defaultOnUpdate` lack it, which means true. */
export type WriteFieldSetting = Omit<ParsedSetting, 'defaultOnUpdate'> &
  Partial<Pick<ParsedSetting, 'defaultOnUpdate'>>;

export const writeFieldSettingResource = resource('WriteFieldSetting', 'How a field is written.', {
  fieldName,
  default: value
    .nullable()
    .describe('The value if a record has none for the field. Null if none is written.'),
  defaultOnUpdate: computed(
    z.boolean().describe('Whether updates write the default, too.'),
    ({ defaultOnUpdate = true }: WriteFieldSetting) => defaultOnUpdate,
  ),
  writeOnCreate: occasion.describe('Whether it is written when a record is created.'),
  writeOnUpdate: occasion.describe('Whether it is written when a record is updated.'),
});
