import Type from 'typebox'
import { SHIELD_ACTIONS, UUID_CHOICES } from '../../customers/shield-setting.ts'

export const shieldAction = Type.Enum([...SHIELD_ACTIONS], {
  description:
    'off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.',
})
export const shieldUuids = Type.Enum([...UUID_CHOICES], {
  description:
    'Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.',
})

/** The setting of an account or a key. */
export const shieldSetting = Type.Object(
  { action: shieldAction, uuids: shieldUuids },
  { additionalProperties: false },
)
