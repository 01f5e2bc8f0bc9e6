import Type from 'typebox'
import { GUARD_FACTOR, GUARD_FLOOR_BRL } from '../../customers/spending-guard.ts'
import { answer, nullable } from '../rest/values.ts'

export const guardFactor = nullable(
  Type.Integer({
    minimum: GUARD_FACTOR.min,
    maximum: GUARD_FACTOR.max,
    description:
      'Quantas vezes a hora de maior gasto dos últimos 35 dias uma chave pode gastar em 60 minutos; null: sem pausa.',
  }),
)
export const guardFloorBrl = Type.Integer({
  minimum: GUARD_FLOOR_BRL.min,
  maximum: GUARD_FLOOR_BRL.max,
  description: 'Abaixo deste valor em reais por hora, nada é gasto fora do padrão.',
})
export const spendingGuardSetting = answer({ factor: guardFactor, floor_brl: guardFloorBrl })
