/** As the makers write their names; another name stays as the catalog has it. The dashboard and the pages share them. */
const MAKERS: Readonly<Record<string, string>> = {
  alibaba: 'Alibaba',
  anthropic: 'Anthropic',
  cohere: 'Cohere',
  deepseek: 'DeepSeek',
  google: 'Google',
  maritaca: 'Maritaca',
  meta: 'Meta',
  mistral: 'Mistral',
  moonshot: 'Moonshot',
  openai: 'OpenAI',
  xai: 'xAI',
}

/** The vendor of a model whose entry names none. */
export const UNKNOWN_MAKER = 'other'

export function makerOf(vendor: string): string {
  return (Object.hasOwn(MAKERS, vendor) && MAKERS[vendor]) || vendor
}

export function isKnownMaker(vendor: string): boolean {
  return Object.hasOwn(MAKERS, vendor)
}
