/** Describes the need of a field, from the declaration of the function that it calls. */
import { type Need, needText } from '../../domain/viewer/needs.ts';

/** The options of a field that calls a declared function. Tests that walk the schema read `extensions.needs`. */
export function needing({ needs }: { needs: Need }, description: string) {
  return { description: `${description} ${needText(needs)}`, extensions: { needs } };
}
