export const ANTHROPIC_ADDRESS = 'https://api.anthropic.com/v1'
