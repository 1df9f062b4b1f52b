/** Derives readable accent colors from a project's color, by the contrast rules of WCAG 2.2. */

type Rgb = [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** The backgrounds that contrast least with texts: `--soft` of base.css, and `--card` for buttons. */
const BACKGROUNDS = {
  light: { text: '#f1f3f6', button: '#ffffff' },
  dark: { text: '#1f2530', button: '#171b23' },
};
/** The contrasts that WCAG requires of texts (1.4.3), and of controls (1.4.11). */
const TEXT_CONTRAST = 4.5;
const CONTROL_CONTRAST = 3;
const STEPS = 50;

/** The CSS properties with accent colors. */
export const ACCENT_NAMES = ['--accent', '--accent-fill', '--on-accent', '--accent-soft'] as const;
type AccentColors = Record<(typeof ACCENT_NAMES)[number], string>;

/** Returns the values of the CSS properties. */
export function createAccentColors(color: string): AccentColors {
  const { light, dark } = BACKGROUNDS;
  const fills = [light, dark].map(({ button }) =>
    mixToContrast(parseHexColor(color), parseHexColor(button), CONTROL_CONTRAST),
  );
  const texts = [light, dark].map(({ text }) =>
    mixToContrast(parseHexColor(color), parseHexColor(text), TEXT_CONTRAST),
  );
  return {
    '--accent': formatLightDark(texts),
    '--accent-fill': formatLightDark(fills),
    '--on-accent': formatLightDark(fills.map(chooseTextColor)),
    '--accent-soft': 'var(--soft)',
  };
}

/** Mixes the color with as little black or white as it needs to reach the contrast. */
function mixToContrast(color: Rgb, background: Rgb, contrastMin: number): Rgb {
  const target =
    computeContrast(BLACK, background) > computeContrast(WHITE, background) ? BLACK : WHITE;
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(color, target, step / STEPS);
    if (computeContrast(mixed, background) >= contrastMin) return mixed;
  }
  return target;
}

/** Returns black or white. One of the two always has a contrast of at least 4.5. */
const chooseTextColor = (fill: Rgb): Rgb =>
  computeContrast(WHITE, fill) >= TEXT_CONTRAST ? WHITE : BLACK;

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((value, index) => Math.round(value + ((to[index] ?? 0) - value) * share)) as Rgb;
}

function computeContrast(a: Rgb, b: Rgb): number {
  const [x, y] = [computeLuminance(a), computeLuminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function computeLuminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parseHexColor(hex: string): Rgb {
  return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16)) as Rgb;
}

const formatRgb = (color: Rgb) => `rgb(${color.join(' ')})`;

function formatLightDark([light = BLACK, dark = WHITE]: Rgb[]): string {
  return `light-dark(${formatRgb(light)}, ${formatRgb(dark)})`;
}
