/** Enums of the content of integrations and configs, whose values rows hold as lower-case words. */
import { enumType } from '../schema/inputs.ts';

export const AlwaysEnabled = enumType(
  'AlwaysEnabled',
  'Something that no installation can turn off.',
  {
    ALWAYS: 'It is on for every installation.',
  },
);

export const FieldsAuto = enumType('FieldsAuto', 'Fields that are chosen without naming them.', {
  ALL: 'Every field.',
});

export const WatchFieldsAuto = enumType('WatchFieldsAuto', 'Fields to watch without naming them.', {
  ALL: 'Every field.',
  SELECTED: 'The fields that the installation reads.',
});

export const DeliveryMode = enumType('DeliveryMode', 'When records that were read are sent.', {
  AUTO: 'As soon as they are read.',
});
