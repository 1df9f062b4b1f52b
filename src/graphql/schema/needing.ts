/** What a field needs, as its description tells it: from the declaration of what it calls. */
import { type Need, needText } from '../../domain/viewer/needs.ts';

/** The options of a field that calls what is declared so. `extensions.needs` is for those who walk the schema. */
export function needing({ needs }: { needs: Need }, description: string) {
  return { description: `${description} ${needText(needs)}`, extensions: { needs } };
}
