/** An installation's config in the reference API's form: objects and fields are members by name. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import { resource } from '../../../../domain/base/resource.ts';
import type { ConfigInput } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { ConfigContent } from '../../../../domain/integrations/installation/installation-config.ts';
import type { Path } from '../../../../kernel/text.ts';
import type { Form } from '../../../endpoint/request-form.ts';
import type { ObjectForm } from './object-form.ts';
import { readForm } from './read-form.ts';
import { subscribeForm } from './subscribe-form.ts';
import { writeForm } from './write-form.ts';

const objectName = boundedName.describe(
  'The name of the object. It equals the name of the member that holds the object.',
);
const provider = boundedName.describe("The name of the integration's provider.");
const proxy = z
  .strictObject({
    enabled: z
      .boolean()
      .optional()
      .describe("If false, no requests are forwarded. Default: the integration's setting."),
  })
  .optional()
  .describe('Whether requests are forwarded to the provider.');

/** Requires that a name inside an object equals the name of the member that holds the object. */
const requireMatchingNames = z.superRefine<Record<string, unknown>>((objects, context) => {
  for (const [name, object] of Object.entries(objects)) {
    const { objectName: innerName = name } = object as { objectName?: string };
    if (innerName === name) continue;
    const message = 'must be the name of the member that holds the object.';
    context.addIssue({ code: 'custom', path: [name, 'objectName'], message });
  }
});

function createRequestObjects<Wire>(
  { request }: Pick<ObjectForm<Wire, never, never>, 'request' | 'locate'>,
  description: string,
) {
  const object = z.strictObject({ objectName: objectName.optional(), ...request });
  const objects = z
    .record(boundedName, object as z.ZodType as z.ZodType<Wire>)
    .check(requireMatchingNames);
  return z
    .strictObject({ objects: objects.optional().describe('The objects, by their names.') })
    .optional()
    .describe(description);
}

/** The schema of requests, in which all optional members may be omitted. */
export const configInput = z
  .strictObject({
    provider: provider.optional(),
    read: createRequestObjects(
      readForm,
      'The objects to read. Objects that are not named are not read.',
    ),
    write: createRequestObjects(writeForm, 'The objects to write.'),
    subscribe: createRequestObjects(
      subscribeForm,
      "The objects whose events differ from the integration's choice.",
    ),
    proxy,
  })
  .describe('The choices of the customer.');

export type WireConfig = z.output<typeof configInput>;

function createResponseObjects({ response }: { response: z.ZodRawShape }) {
  const object = z.object({ objectName, ...response });
  return z.object({
    objects: z.record(z.string(), object).describe('The objects, by their names.'),
  });
}

export const configContent = resource('InstallationConfigContent', 'The choices of the customer.', {
  provider,
  read: createResponseObjects(readForm).describe('The objects that are read.'),
  write: createResponseObjects(writeForm).describe('The objects that may be written.'),
  subscribe: createResponseObjects(subscribeForm)
    .optional()
    .describe("The objects whose events differ from the integration's choice."),
  proxy,
});

export const CONFIG_FORM: Form<WireConfig | undefined> = {
  schema: configInput.optional(),
  decode: (wire) => wire && parseConfig(wire),
  locate: (wire, path) => (wire ? locateInConfig(wire, path) : path),
};

export function parseConfig({ provider, read, write, subscribe, proxy }: WireConfig): ConfigInput {
  return {
    provider,
    read: parseObjects(readForm, read?.objects),
    write: parseObjects(writeForm, write?.objects),
    subscribe: parseObjects(subscribeForm, subscribe?.objects),
    proxy: proxy?.enabled === undefined ? null : { enabled: proxy.enabled },
  };
}

function parseObjects<Wire, Input>(
  { decode }: Pick<ObjectForm<Wire, Input, never>, 'decode'>,
  objects: Record<string, Wire> = {},
) {
  return Object.entries(objects).map(([name, wire]) => ({ objectName: name, ...decode(wire) }));
}

/** Maps `read[0].selectedFields[1]` to `read.objects.contacts.selectedFields.phone`. */
export function locateInConfig(wire: WireConfig, path: Path): Path {
  const [section, index, ...inside] = path;
  if (typeof index !== 'number') return path;
  const locateInObject = <Wire>(
    { locate }: Pick<ObjectForm<Wire, never, never>, 'locate'>,
    objects: Record<string, Wire> = {},
  ) => {
    const [name = index, object] = Object.entries(objects)[index] ?? [];
    const isName = inside[0] === 'objectName' || inside.length === 0;
    const located = isName || !object ? [] : locate(object, inside);
    return [section as string, 'objects', name, ...located];
  };
  if (section === 'read') return locateInObject(readForm, wire.read?.objects);
  if (section === 'write') return locateInObject(writeForm, wire.write?.objects);
  return locateInObject(subscribeForm, wire.subscribe?.objects);
}

export function showConfig({ read, write, subscribe = [], proxy }: ConfigContent) {
  return {
    read: { objects: showObjects(readForm, read) },
    write: { objects: showObjects(writeForm, write) },
    subscribe:
      subscribe.length > 0 ? { objects: showObjects(subscribeForm, subscribe) } : undefined,
    proxy: proxy ? { enabled: proxy.enabled } : undefined,
  };
}

function showObjects<Wire, Choice extends { objectName: string }>(
  { encode }: Pick<ObjectForm<Wire, never, Choice>, 'encode'>,
  choices: readonly Choice[],
) {
  const entries = choices.map((choice) => {
    const { objectName: name } = choice;
    return [name, { objectName: name, ...encode(choice) }] as const;
  });
  return Object.fromEntries(entries);
}
