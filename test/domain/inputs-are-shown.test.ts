/**
 * Nothing is kept in silence: what a caller may give is shown by the answers about what it belongs to.
 *
 * @module-tag all/walk
 */
import {
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { MUTATIONS } from '../support/inputs/walk-inputs.ts';

const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
const ofMutations = new Set(
  Object.values(MUTATIONS).map(({ args }) => getNamedType(args[0]?.type)),
);

/** Types with another name in answers. */
const SHOWN_BY: Record<string, string> = {
  ClaimDomainInput: 'ClaimedDomain',
  GenerateConnectionInput: 'ConnectedAccount',
  UpdateConnectionInput: 'ConnectedAccount',
  ProviderAppChanges: 'ProviderApp',
};

const FOUND_BY = 'It names what there is already.';
const SECRET = 'A secret: it is never shown.';
const WRITTEN = 'A part of a write: the record at the provider shows it.';
const ASKED = 'Work to do, and not what is kept: its operation tells of it.';

/** Types that no answer has, each with the reason. */
const NOT_SHOWN_TYPES: [names: RegExp, reason: string][] = [
  [
    /^(Accept|Add|Delete|Erase|Join|Refresh|Release|Remove|Retry|Rotate|SendTest|Verify)\w+Input$/,
    FOUND_BY,
  ],
  [
    /^(BasicAuth|OAuth2\w+)Input$/,
    `${SECRET} \`authScheme\` tells its kind, and tokens are in \`credentials\`.`,
  ],
  [/^(Association|AssociationTarget|AssociationType|BatchRecord|Header)Input$/, WRITTEN],
  [/^(AutoBatchPolicy|BatchPolicy|RetryPolicy|WriteRecords|TriggerRead)Input$/, ASKED],
  [/^CreateSessionTokenInput$/, 'The token says it, and `viewer` to who sends it.'],
  [/^(RecordFilter|TimeRange)Input$/, FOUND_BY],
  [
    /^(Upsert(Installed)?ObjectMetadata|ObjectFields|Field(Definition|Association)|(String|Numeric)Options|AssociationLabels)Input$/,
    'What becomes of it is told in the words of the provider: `metadata`, and `objectMetadata`.',
  ],
  [/^(Pause|Resume)ReadsInput$/, '`paused` and `pauseNote` of the objects show it.'],
  [/^UpsertIntegrationsInput$/, 'The integrations and their latest revisions show it.'],
  [/^StartOAuth(Connect|Update)Input$/, 'The connection that the consent makes shows it.'],
];

/** Members that answers have otherwise, or not at all. */
const NOT_SHOWN: Record<string, string> = {
  'CreateInstallationInput.configCreatedBy': 'Over REST it is `config.createdBy`.',
  'UpdateInstallationInput.configCreatedBy': 'Over REST it is `config.createdBy`.',
  'CreateInstallationInput.skipSampling': 'It says how the config is checked.',
  'GenerateConnectionInput.skipCheck': 'It says how credentials are checked.',
  'UpdateConnectionInput.skipCheck': 'It says how credentials are checked.',
  'UpdateInstallationInput.skipSampling': 'It says how the config is checked.',
  'InstallationConfigInput.provider': "It is checked: the integration's.",
  'CreateInviteInput.email': 'It is `invitedEmail`.',
  'CreateInviteInput.orgId': 'It is `parentId`.',
  'CreateProviderAppInput.clientSecret': SECRET,
  'CreateProviderAppInput.webhookSecret': SECRET,
  'ProviderAppChanges.clientSecret': SECRET,
  'ProviderAppChanges.webhookSecret': SECRET,
  'UpdateProviderAppInput.providerApp': 'Its members are those of the app.',
  'UpdateProviderAppInput.updateMask': 'It says which members are changed.',
  'UpdateDestinationInput.keepHeaders': '`headers` show the names that were kept.',
  'CreateRevisionInput.revision': 'Its members are those of the revision.',
  'CreateRevisionInput.destructive': 'It says what is done to installations.',
  'CreateRevisionInput.integrationIdOrName': FOUND_BY,
  'CreateRevisionInput.projectIdOrName': FOUND_BY,
  ...ofCredentials('GenerateConnectionInput'),
  ...ofCredentials('UpdateConnectionInput'),
};

function ofCredentials(type: string): Record<string, string> {
  return {
    [`${type}.apiKey`]: 'It is in `credentials`.',
    [`${type}.oauth2AuthorizationCode`]: 'It is in `credentials`.',
    [`${type}.basicAuth`]: SECRET,
    [`${type}.customAuth`]: SECRET,
    [`${type}.oauth2ClientCredentials`]: SECRET,
    [`${type}.oauth2PasswordCredentials`]: SECRET,
  };
}

function shownBy(type: GraphQLInputObjectType): GraphQLObjectType | null {
  const verb = ofMutations.has(type) ? /^(Create|Update)/ : /^$/;
  const name = SHOWN_BY[type.name] ?? type.name.replace(verb, '').replace(/Input$/, '');
  const shown = schema.getType(name);
  return isObjectType(shown) ? shown : null;
}

/** `topicId` is the `topic` of a route, or the `id` of the topic itself. */
function isShown(member: string, shown: GraphQLObjectType): boolean {
  const fields = shown.getFields();
  const [, about = ''] = /^(\w+?)(IdOrName|Id|Ref|Name)$/.exec(member) ?? [];
  const itself = shown.name === 'ConnectedAccount' ? 'connection' : shown.name;
  return member in fields || about in fields || about.toLowerCase() === itself.toLowerCase();
}

test('every member of every input is shown by an answer, or the reason is told', () => {
  const silent = inputs.flatMap((type) => {
    const shown = shownBy(type);
    if (!shown) return NOT_SHOWN_TYPES.some(([names]) => names.test(type.name)) ? [] : type.name;
    const members = Object.keys(type.getFields()).filter((member) => !isShown(member, shown));
    return members.map((member) => `${type.name}.${member}`);
  });
  expect(silent.sort(), 'NOT_SHOWN names them').toEqual(Object.keys(NOT_SHOWN).sort());
});
