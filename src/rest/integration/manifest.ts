/** Revisions that are given as the text of a manifest, in which the integration is one of several. */
import { z } from 'zod';
import { issueAt } from '../../domain/issues.ts';
import { type Issue, invalidInput } from '../../errors.ts';
import type { Parts } from '../endpoint/endpoint.ts';
import { MANIFEST_LENGTH_MAX, readManifestText } from './manifest-text.ts';

export const manifestShape = {
  sourceYaml: z
    .string()
    .max(MANIFEST_LENGTH_MAX)
    .optional()
    .describe(
      'The text of a manifest, as YAML, instead of revision: its integration of this name, or its only one. At most 128 KiB.',
    ),
  sourceZipUrl: z.string().optional().describe('Refused: send the text as sourceYaml.'),
};

const manifest = z.object({
  specVersion: z.string(),
  integrations: z.array(z.looseObject({ name: z.string() })).min(1),
});

/** With the manifest's integration as `revision`. Throws BAD_USER_INPUT for a text that has none. */
export function revisionOfManifest(parts: Parts): Parts {
  const { sourceYaml, ...body } = withoutZip(parts);
  if (typeof sourceYaml !== 'string') return parts;
  if (body.revision !== undefined) throw refusal('sourceYaml', 'must not stand beside revision.');
  const { specVersion, integrations } = readManifest(sourceYaml);
  const { integrationId: name } = parts.path as { integrationId: string };
  const [only, ...others] = integrations;
  const content =
    integrations.find((one) => one.name === name) ?? (others.length > 0 ? null : only);
  if (!content) throw refusal('sourceYaml', `has several integrations, and none is named ${name}.`);
  return { ...parts, body: { ...body, revision: { specVersion, content } } };
}

/** With all integrations of the manifest. Throws BAD_USER_INPUT for a text that has none. */
export function contentsOfManifest(parts: Parts): Parts {
  const { sourceYaml, ...body } = withoutZip(parts);
  if (typeof sourceYaml !== 'string') return parts;
  if (body.integrations !== undefined) {
    throw refusal('sourceYaml', 'must not stand beside integrations.');
  }
  return { ...parts, body: { ...body, ...readManifest(sourceYaml) } };
}

function withoutZip({ body }: Parts): Record<string, unknown> {
  const { sourceZipUrl, ...given } = (body ?? {}) as Record<string, unknown>;
  if (sourceZipUrl === undefined) return given;
  throw refusal('sourceZipUrl', "can't be fetched: send the text as sourceYaml.");
}

function readManifest(text: string): z.output<typeof manifest> {
  const read = readManifestText(text);
  if ('problem' in read) throw refusal('sourceYaml', read.problem);
  const { data } = manifest.safeParse(read.value);
  if (data) return data;
  throw refusal('sourceYaml', 'must have specVersion, and integrations with names.');
}

function refusal(member: string, detail: string): Error {
  const issue: Issue = issueAt([member], detail);
  return invalidInput([issue]);
}
