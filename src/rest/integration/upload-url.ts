/** Where the platform's clients put the files of a manifest. The gateway takes manifests as text alone. */
import { z } from 'zod';
import { unprocessable } from '../../errors.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { resource } from '../openapi/schemas.ts';

const signedUrl = resource('SignedUrl', 'Where a file can be put.', {
  url: z.string().describe('The URL to put the file to.'),
  bucket: z.string().describe('The store that it names.'),
  path: z.string().describe('The place of the file in the store.'),
});

export const uploadUrlEndpoint = endpoint({
  id: 'generateUploadUrl',
  method: 'GET',
  path: '/generate-upload-url',
  tag: 'Integrations',
  summary: 'Gets a URL to upload the files of a manifest to.',
  description:
    'No store for files is connected to the gateway: the answer is a refusal that says so. Send the text of a manifest as `sourceYaml`.',
  needs: 'integrations:write',
  input: z.object({}),
  status: 200,
  output: signedUrl,
  async run(): Promise<z.output<typeof signedUrl>> {
    throw unprocessable(
      'No store for files is configured on this server: send the text of the manifest as sourceYaml.',
    );
  },
});
