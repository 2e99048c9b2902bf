# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of bones in conventions that make upper and lower limb of two bones each, or hang bones for twist beside.

The form of the lines is that of `name_lists`.
"""

from __future__ import annotations

DAZ_8 = """
Genesis8Female | - | ground
hip | Genesis8Female | hips
pelvis | hip | hips2
{}ThighBend | pelvis | hip
{}ThighTwist | {}ThighBend | hip2
{}Shin | {}ThighTwist | knee
{}Foot | {}Shin | ankle
{}Metatarsals | {}Foot | ankle
{}Toe | {}Metatarsals | ball
abdomenLower | hip | spine1
abdomenUpper | abdomenLower | spine2
chestLower | abdomenUpper | spine3
chestUpper | chestLower | spine4
{}Collar | chestUpper | collar
{}ShldrBend | {}Collar | shoulder
{}ShldrTwist | {}ShldrBend | shoulder2
{}ForearmBend | {}ShldrTwist | elbow
{}ForearmTwist | {}ForearmBend | elbow2
{}Hand | {}ForearmTwist | wrist
{}Thumb1 | {}Hand | thumb1
{}Thumb2 | {}Thumb1 | thumb2
{}Carpal1 | {}Hand | knuckle
{}Index1 | {}Carpal1 | index1
{}Index2 | {}Index1 | index2
{}Index3 | {}Index2 | index3
{}Pectoral | chestLower | spine3
neckLower | chestUpper | neck
neckUpper | neckLower | neck2
head | neckUpper | head
"""

DAZ_9 = """
hip | - | hips
pelvis | hip | hips2
{}_thigh | pelvis | hip
{}_thightwist1 | {}_thigh | hip
{}_thightwist2 | {}_thigh | hip2
{}_shin | {}_thigh | knee
{}_foot | {}_shin | ankle
{}_toes | {}_foot | ball
spine1 | hip | spine1
spine2 | spine1 | spine2
spine3 | spine2 | spine3
spine4 | spine3 | spine4
{}_shoulder | spine4 | collar
{}_upperarm | {}_shoulder | shoulder
{}_upperarmtwist1 | {}_upperarm | shoulder
{}_forearm | {}_upperarm | elbow
{}_forearmtwist1 | {}_forearm | elbow2
{}_hand | {}_forearm | wrist
neck1 | spine4 | neck
neck2 | neck1 | neck2
head | neck2 | head
"""

CHARACTER_CREATOR = """
CC_Base_BoneRoot | - | ground
CC_Base_Hip | CC_Base_BoneRoot | hips
CC_Base_Pelvis | CC_Base_Hip | hips2
CC_Base_{}_Thigh | CC_Base_Pelvis | hip
CC_Base_{}_ThighTwist01 | CC_Base_{}_Thigh | hip
CC_Base_{}_Calf | CC_Base_{}_Thigh | knee
CC_Base_{}_CalfTwist01 | CC_Base_{}_Calf | knee2
CC_Base_{}_KneeShareBone | CC_Base_{}_Calf | knee
CC_Base_{}_Foot | CC_Base_{}_Calf | ankle
CC_Base_{}_ToeBase | CC_Base_{}_Foot | ball
CC_Base_Waist | CC_Base_Hip | spine1
CC_Base_Spine01 | CC_Base_Waist | spine2
CC_Base_Spine02 | CC_Base_Spine01 | spine3
CC_Base_NeckTwist01 | CC_Base_Spine02 | neck
CC_Base_NeckTwist02 | CC_Base_NeckTwist01 | neck2
CC_Base_Head | CC_Base_NeckTwist02 | head
CC_Base_{}_RibsTwist | CC_Base_Spine02 | spine4
CC_Base_{}_Breast | CC_Base_{}_RibsTwist | spine4
CC_Base_{}_Clavicle | CC_Base_Spine02 | collar
CC_Base_{}_Upperarm | CC_Base_{}_Clavicle | shoulder
CC_Base_{}_UpperarmTwist01 | CC_Base_{}_Upperarm | shoulder
CC_Base_{}_Forearm | CC_Base_{}_Upperarm | elbow
CC_Base_{}_ElbowShareBone | CC_Base_{}_Forearm | elbow
CC_Base_{}_ForearmTwist01 | CC_Base_{}_Forearm | elbow2
CC_Base_{}_Hand | CC_Base_{}_Forearm | wrist
CC_Base_{}_Mid1 | CC_Base_{}_Hand | middle1
CC_Base_{}_Mid2 | CC_Base_{}_Mid1 | middle2
CC_Base_{}_Mid3 | CC_Base_{}_Mid2 | middle3
CC_Base_{}_Index1 | CC_Base_{}_Hand | index1
CC_Base_{}_Index2 | CC_Base_{}_Index1 | index2
CC_Base_{}_Index3 | CC_Base_{}_Index2 | index3
"""

MAKEHUMAN = """
root | - | hips
pelvis.{} | root | half_pelvis
upperleg01.{} | pelvis.{} | hip
upperleg02.{} | upperleg01.{} | hip2
lowerleg01.{} | upperleg02.{} | knee
lowerleg02.{} | lowerleg01.{} | knee2
foot.{} | lowerleg02.{} | ankle
toe1-1.{} | foot.{} | ball
spine05 | root | spine1
spine04 | spine05 | spine2
spine03 | spine04 | spine3
spine02 | spine03 | spine4
clavicle.{} | spine02 | collar
upperarm01.{} | clavicle.{} | shoulder
upperarm02.{} | upperarm01.{} | shoulder2
lowerarm01.{} | upperarm02.{} | elbow
lowerarm02.{} | lowerarm01.{} | elbow2
wrist.{} | lowerarm02.{} | wrist
neck01 | spine02 | neck
neck02 | neck01 | neck2
head | neck02 | head
"""
