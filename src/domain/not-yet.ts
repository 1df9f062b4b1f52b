/** What the schema has already and this version refuses; each line moves to its noun when it is made. */
import { unprocessable } from '../errors.ts';
import type { Call } from './call.ts';

export const startOAuthConnect = notYet('startOAuthConnect');
export const objectMetadataOfInstallation = notYet('objectMetadata');
export const refreshConnection = notYet('refreshConnection');

function notYet(name: string) {
  return (_call: Call, _input: object): never => {
    throw unprocessable(`${name} is not available yet.`);
  };
}
