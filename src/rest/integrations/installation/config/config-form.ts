/** An installation's config in the reference API's form: objects and fields are members by name. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import { resource } from '../../../../domain/base/resource.ts';
import {
  type ConfigInput,
  installationConfigInput,
} from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import { formatPath } from '../../../../kernel/text.ts';
import {
  byName,
  type FullForm,
  members,
  merge,
  nested,
  type ObjectForm,
  only,
  optional,
  same,
  unlessEmpty,
} from '../../../endpoint/form.ts';
import { declareNames } from '../../../endpoint/stored-spelling.ts';
import { readForm } from './read-form.ts';
import { ignoredForm, subscribeForm } from './subscribe-form.ts';
import { writeForm } from './write-form.ts';

const objectName = boundedName.describe(
  'The name of the object. It equals the name of the member that holds the object.',
);
const provider = boundedName.describe("The name of the integration's provider.");

/** Requires that a name inside an object equals the name of the member that holds the object. */
const requireMatchingNames = z.superRefine<unknown>((objects, context) => {
  for (const [name, object] of Object.entries(objects as object)) {
    const { objectName: innerName = name } = object;
    if (innerName === name) continue;
    const message = 'must be the name of the member that holds the object.';
    context.addIssue({ code: 'custom', path: [name, 'objectName'], message });
  }
});

function byObjectName(form: ObjectForm) {
  const ownName = members<{ objectName: string }>({ objectName: objectName.optional() });
  const objects = byName('objectName', merge(ownName, form));
  const schema = objects.schema.check(requireMatchingNames);
  return optional({ ...objects, schema }, 'The objects, by their names.');
}

/** A member of the config in an object of its own, like `read` in `read.objects`. */
function section(
  member: keyof ConfigInput,
  [wireName, form]: [wireName: string, form: FullForm],
  description: string,
): ObjectForm {
  const content = members<Record<string, unknown>>({ [member]: [wireName, form] });
  return nested(member, content, (schema) => schema.describe(description).optional());
}

const proxyForm = section(
  'proxy',
  [
    'enabled',
    only(
      'enabled',
      same(
        z
          .boolean()
          .optional()
          .describe("If false, no requests are forwarded. Default: the integration's setting."),
      ),
    ),
  ],
  'Whether requests are forwarded to the provider.',
);

/** The form of configs. Requests may omit all members. */
export const configForm = merge(
  members<Pick<ConfigInput, 'provider'>>({ provider: provider.optional() }),
  section(
    'read',
    ['objects', byObjectName(readForm)],
    'The objects to read. Objects that are not named are not read.',
  ),
  section('write', ['objects', byObjectName(writeForm)], 'The objects to write.'),
  section(
    'subscribe',
    ['objects', unlessEmpty(byObjectName(merge(subscribeForm, ignoredForm)))],
    "The objects whose events differ from the integration's choice.",
  ),
  proxyForm,
);

declareNames(installationConfigInput.meta()?.id, (path) =>
  formatPath(configForm.locate(undefined, path)),
);

/** Describes objects in responses, which always have the `required` members. */
function describeObjects({ schema }: ObjectForm, required: readonly string[] = []) {
  const shape = Object.entries<z.ZodType>(schema.shape).map(([name, member]) => {
    const isRequired = required.includes(name) && member instanceof z.ZodOptional;
    return [name, isRequired ? member.unwrap() : member];
  });
  const object = z.object({ objectName, ...Object.fromEntries(shape) });
  return z.object({
    objects: z.record(z.string(), object).describe('The objects, by their names.'),
  });
}

export const configContent = resource('InstallationConfigContent', 'The choices of the customer.', {
  provider,
  read: describeObjects(readForm, ['selectedFields', 'selectedFieldMappings']).describe(
    'The objects that are read.',
  ),
  write: describeObjects(writeForm).describe('The objects that may be written.'),
  subscribe: describeObjects(subscribeForm, ['destination', 'inheritFieldsAndMappings'])
    .optional()
    .describe("The objects whose events differ from the integration's choice."),
  proxy: proxyForm.schema.shape.proxy as z.ZodType,
});
