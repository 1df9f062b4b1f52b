/**
 * Every member of an input is returned by the type that it changes, or is listed with a reason.
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
/** The payloads of mutations by their inputs. */
const payloads = new Map(
  Object.values(MUTATIONS).map(({ args, type }) => [
    getNamedType(args[0]?.type),
    getNamedType(type) as GraphQLObjectType,
  ]),
);

/** The types that return inputs with another name. */
const RETURN_TYPE_BY_INPUT: Record<string, string> = {
  ClaimDomainInput: 'ClaimedDomain',
  GenerateConnectionInput: 'ConnectedAccount',
  UpdateConnectionInput: 'ConnectedAccount',
  ProviderAppChanges: 'ProviderApp',
};

const NAMES_AN_OBJECT = 'Names an existing object.';
const IS_SECRET = 'A secret, which is never returned.';
const RECORD_DATA = 'A part of a write, visible in the record at the provider.';
const IS_NOT_STORED = 'Work that is not stored. Its operation reports it.';

/** Inputs without a type that returns them, each with the reason. */
const IN_CUSTOM_PROVIDER = '`customProvider` in the result returns it.';
const UNRETURNED_INPUTS: [names: RegExp, reason: string][] = [
  [
    /^(Accept|Add|Delete|Erase|Join|Refresh|Release|Remove|Retry|Rotate|SendTest|Test|Verify)\w+Input$/,
    NAMES_AN_OBJECT,
  ],
  [
    /^(BasicAuth|OAuth2\w+)Input$/,
    `${IS_SECRET} \`authScheme\` is its kind, and tokens are in \`credentials\`.`,
  ],
  [
    /^(Association|AssociationTarget|AssociationType|BatchRecord|Header|RecordsToWrite)Input$/,
    RECORD_DATA,
  ],
  [/^(AutoBatchPolicy|BatchPolicy|RetryPolicy|WriteRecords|TriggerRead)Input$/, IS_NOT_STORED],
  [/^CreateSessionTokenInput$/, 'The token contains it, and `viewer` returns it to the end user.'],
  [/^(RecordFilter|TimeRange)Input$/, 'Selects records or rows, and is not stored.'],
  [
    /^(Upsert(Installed)?ObjectMetadata|ObjectFields|Field(Definition|Association)|(String|Numeric)Options|AssociationLabels)Input$/,
    '`objectMetadata` returns the result in the terms of the provider.',
  ],
  [/^(Pause|Resume)ReadsInput$/, '`paused` and `pauseNote` of the objects return it.'],
  [/^(Acknowledge|Reopen)AttentionItemInput$/, NAMES_AN_OBJECT],
  [/^(ApplyPlan|PlanProject|PlanRename)Input$/, 'The changes of the plan return it.'],
  [/^PlanSecretInput$/, IS_SECRET],
  [
    /^(Approve|Commit|Reject|Revoke)(Proposal|AgentSession)Input$/,
    'The proposal or session returns the decision.',
  ],
  [/^UpsertIntegrationsInput$/, 'The integrations and their latest revisions return it.'],
  [/^StartOAuth(Connect|Update)Input$/, 'The connection after the consent returns it.'],
];

/** Members that the API returns under another name, or does not return. */
const UNRETURNED_FIELDS: Record<string, string> = {
  'CreateInstallationInput.configCreatedBy': 'Over REST it is `config.createdBy`.',
  'UpdateInstallationInput.configCreatedBy': 'Over REST it is `config.createdBy`.',
  'CreateInstallationInput.skipSampling': 'Changes the checks of the config.',
  'GenerateConnectionInput.skipCheck': 'Changes the checks of credentials.',
  'UpdateConnectionInput.skipCheck': 'Changes the checks of credentials.',
  'UpdateInstallationInput.skipSampling': 'Changes the checks of the config.',
  'InstallationConfigInput.provider': 'Must be the provider of the integration.',
  'CreateInviteInput.email': 'It is `invitedEmail`.',
  'CreateInviteInput.orgId': 'It is `parentId`.',
  ...Object.fromEntries(
    ['document', 'projectIdOrName'].flatMap((member) => [
      [`CreateProviderInput.${member}`, IN_CUSTOM_PROVIDER],
      [`UpdateProviderInput.${member}`, IN_CUSTOM_PROVIDER],
    ]),
  ),
  'UpdateProviderInput.customProviderId': IN_CUSTOM_PROVIDER,
  'UpdateProviderInput.destructive': 'Permits a change that breaks something.',
  'CreateProviderAppInput.clientSecret': IS_SECRET,
  'CreateProviderAppInput.webhookSecret': IS_SECRET,
  'ProviderAppChanges.clientSecret': IS_SECRET,
  'ProviderAppChanges.webhookSecret': IS_SECRET,
  'UpdateProviderAppInput.providerApp': 'Its members are those of the app.',
  'UpdateProviderAppInput.updateMask': 'Names the changed members.',
  'UpdateDestinationInput.keepHeaders': '`headers` returns the names of kept headers.',
  'CreateRevisionInput.revision': 'Its members are those of the revision.',
  'CreateRevisionInput.destructive': 'Changes the effect on installations.',
  'CreateRevisionInput.integrationIdOrName': NAMES_AN_OBJECT,
  'CreateRevisionInput.projectIdOrName': NAMES_AN_OBJECT,
  'CreateAgentSessionInput.expiresInSeconds': 'It is `expireTime`.',
  'CreateProposalInput.values': 'The `fields` return it.',
  'ConnectionCredentialsInput.basicAuth': IS_SECRET,
  'ConnectionCredentialsInput.customAuth': IS_SECRET,
  'ConnectionCredentialsInput.oauth2ClientCredentials': IS_SECRET,
  'ConnectionCredentialsInput.oauth2PasswordCredentials': IS_SECRET,
};

function findReturnType(type: GraphQLInputObjectType): GraphQLObjectType | null {
  const verb = payloads.has(type) ? /^(Create|Update)/ : /^$/;
  const name = RETURN_TYPE_BY_INPUT[type.name] ?? type.name.replace(verb, '').replace(/Input$/, '');
  const returnType = schema.getType(name);
  return isObjectType(returnType) ? returnType : null;
}

/** Returns the type of the object in the payload. Null if the payload has none, or several. */
function findResultType(type: GraphQLInputObjectType): GraphQLObjectType | null {
  const fields = Object.values(payloads.get(type)?.getFields() ?? {});
  const [resultType, ...others] = fields.map((field) => getNamedType(field.type));
  return others.length === 0 && isObjectType(resultType) ? resultType : null;
}

/**
 * True if the type has the member, or the object that the member identifies. For example, a route returns `topicId` as
 * `topic`, and a topic returns it as `id`.
 */
function isShown(member: string, returnType: GraphQLObjectType): boolean {
  const fields = returnType.getFields();
  const [, noun = ''] = /^(\w+?)(IdOrName|Id|Ref|Name)$/.exec(member) ?? [];
  const typeNoun = returnType.name === 'ConnectedAccount' ? 'connection' : returnType.name;
  return member in fields || noun in fields || noun.toLowerCase() === typeNoun.toLowerCase();
}

test('returns every member of every input in a type, except those in UNRETURNED_FIELDS', () => {
  const unreturned = inputs.flatMap((type) => {
    const isListed = UNRETURNED_INPUTS.some(([names]) => names.test(type.name));
    const returnType = findReturnType(type) ?? (isListed ? null : findResultType(type));
    if (!returnType) return isListed ? [] : type.name;
    const members = Object.keys(type.getFields()).filter((member) => !isShown(member, returnType));
    return members.map((member) => `${type.name}.${member}`);
  });
  expect(
    unreturned.sort(),
    'UNRETURNED_FIELDS lists members without a field. UNRETURNED_INPUTS lists inputs without a type.',
  ).toEqual(Object.keys(UNRETURNED_FIELDS).sort());
});
